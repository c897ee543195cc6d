/**
 * Asks Helm's engine for the answers to all cases and records them. Run it after changing cases, and review the
 * difference:
 *
 *   node scripts/launch.mjs test/gotemplate/record.ts
 */
import { programArguments } from '../../scripts/program-help.ts'
import { allCases } from './cases.ts'
import { askOracle, buildOracle } from './oracle.ts'
import type { Answer } from './oracle.ts'
import { writeRecording } from './recording.ts'

programArguments(
  {
    usage: 'node scripts/launch.mjs test/gotemplate/record.ts',
    summary: "Record the answers of Helm's engine to the cases of the template engine. Needs Go.",
  },
  {},
)
const program = await buildOracle()
const answers = new Map<string, readonly Answer[]>()
for (const { name, cases } of allCases()) answers.set(name, await askOracle(program, cases))
writeRecording(answers)
