// FilterDesign
