#!/usr/bin/env node
import { launch } from './launch.mjs'

await launch(new URL('../src/main.ts', import.meta.url))
