// Output of commands for people.
export { durationInWords, fromNow, roughDuration } from './durations.ts'
export { type HelpEntry, type HelpPage, printHelp } from './help-page.ts'
export { assignSetValue } from './set-values.ts'
export { table } from './table.ts'
