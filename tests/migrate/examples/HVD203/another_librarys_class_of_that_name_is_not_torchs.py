# Kept: another library's class of that name is not torch's

from mylib import DataParallel

model = DataParallel(net)
loss.backward()
