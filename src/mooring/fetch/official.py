"""Where each public set comes from. The checksums are those that torchvision publishes for the same files."""

from mooring.data.cifar import FILES_10, FILES_100
from mooring.fetch.public_set import Archive, Files, PublicSet, Remote

TORONTO = "https://www.cs.toronto.edu/~kriz"
STANFORD = "http://ufldl.stanford.edu/housenumbers"
ZALANDO = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"

OFFICIAL: dict[str, PublicSet] = {
    "cifar10": Archive(
        Remote(f"{TORONTO}/cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a", "cifar-10-python.tar.gz"),
        "cifar-10-batches-py",
        FILES_10,
    ),
    "cifar100": Archive(
        Remote(f"{TORONTO}/cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", "cifar-100-python.tar.gz"),
        "cifar-100-python",
        FILES_100,
    ),
    "fashion_mnist": Files.of(
        ZALANDO,
        "fashion-mnist",
        {
            "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
            "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
            "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
        },
    ),
    "svhn": Files.of(
        STANFORD,
        "svhn",
        {
            "train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373",
            "test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3",
        },
    ),
}
