"""Images at three sites: one client per site, one model, predictions for new images."""

import numpy as np

import mooring
from mooring.data import Digits

digits = Digits().train()
site = np.array(["north", "south", "east"])[digits.labels.numpy() % 3]  # every site has seen other classes
result = mooring.run("mooring", data=digits, test=Digits().test(), clients=site, out="runs/sites")
print(result)

model = result.load_model()
scores = model.predictor(Digits().test().images[:5])
print("predicted:", [model.classes[label] for label in scores.argmax(1)])
print("true:     ", [model.classes[label] for label in Digits().test().labels[:5]])
