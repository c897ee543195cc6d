export { type DbCommand, type DbCommandArgument, type DbCommandOption, dbCommands } from './commands.ts'
export type { DbCliContext, DbCliOptions } from './context.ts'
