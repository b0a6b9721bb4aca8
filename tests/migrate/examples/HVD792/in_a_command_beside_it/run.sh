#!/bin/sh
KERAS_BACKEND=torch python train.py
