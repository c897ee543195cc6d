#!/usr/bin/env node
// Runs the command with a Node that runs TypeScript; see scripts/launch.mjs.
process.argv.splice(2, 0, 'packages/gotemplate/src/cli/main.ts')
await import('../../../scripts/launch.mjs')
