print("pinna")
