# A model behind HTTP. Build the wheel first: python -m pip wheel --no-deps --wheel-dir dist .
#   docker build --tag mooring-serve .
#   docker run --rm --read-only --publish 127.0.0.1:8000:8000 --volume "$PWD/model.mooring:/model.mooring:ro" mooring-serve
FROM python:3.11-slim

COPY constraints.txt dist/mooring-*.whl /wheels/
# torch without CUDA, which is several GB smaller; every version as constraints.txt pins it
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
        --constraint /wheels/constraints.txt "$(ls /wheels/mooring-*.whl)[encoder,serve]" \
    && useradd --uid 10001 --create-home mooring

USER 10001
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD \
    ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=2)"]
ENTRYPOINT ["mooring", "serve"]
# 0.0.0.0 is the address inside the container; --publish says who reaches it
CMD ["/model.mooring", "--host", "0.0.0.0"]
