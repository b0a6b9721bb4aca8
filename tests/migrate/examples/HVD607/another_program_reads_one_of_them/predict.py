import json

names = json.load(open('names.json'))
