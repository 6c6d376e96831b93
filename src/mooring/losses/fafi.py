"""The four parts of the base loss that FAFI and every method of the notes share."""

from mooring.losses.classification import CrossEntropy, FeatureToPrototype, PrototypeSpread
from mooring.losses.supcon import SupCon

FAFI = (CrossEntropy(), SupCon(0.07), FeatureToPrototype(1.0), PrototypeSpread(1.0))
