# Kept: nothing is trained here

from sklearn.model_selection import train_test_split

train, test = train_test_split(data)
print(len(train))
