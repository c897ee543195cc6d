#!/usr/bin/env node
import { launch } from '../../tenure/bin/launch.mjs'

await launch(new URL('../src/cli/main.ts', import.meta.url))
