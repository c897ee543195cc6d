// Output of commands for people.
export { durationInWords, fromNow, roughDuration } from './durations.ts'
export { table } from './table.ts'
