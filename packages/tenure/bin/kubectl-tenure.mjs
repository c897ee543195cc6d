#!/usr/bin/env node
// kubectl runs this for `kubectl tenure`. The command knows it by the name of this file.
import './tenure.mjs'
