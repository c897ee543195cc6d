// Output of commands for people.
export { durationInWords, fromNow, roughDuration } from './durations.ts'
export { type HelpEntry, type HelpPage, printHelp } from './help-page.ts'
export {
  followRows,
  type FollowOptions,
  type FollowRowsOptions,
  followScreen,
  type PollContext,
  pollEvery,
  polling,
} from './follow.ts'
export {
  type OutputColumn,
  OUTPUT_FORMATS,
  type OutputFormat,
  outputFormatOf,
  outputMeaning,
  type RowOutput,
  rowsText,
  rowText,
  valueText,
} from './output.ts'
export { loggerOf, logTable } from './log-settings.ts'
export { assignSetValue } from './set-values.ts'
export { table } from './table.ts'
export { displayWidth, fitText, type Style, type Terminal, terminalOf } from './terminal.ts'
