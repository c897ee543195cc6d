import { programName } from './cli/program-name.ts'
import { runProgram } from './cli/program.ts'
import { commandTable } from './command-table.ts'

const code = await runProgram({ entries: commandTable, name: programName(process.argv[1]) }, process.argv.slice(2))
if (code !== undefined) process.exitCode = code
