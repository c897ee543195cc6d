/**
 * Asks Helm's engine for the answers to all cases and records them. Run it after changing cases, and review the
 * difference:
 *
 *   node scripts/launch.mjs test/gotemplate/record.ts
 */
import { allCases } from './cases.ts'
import { askOracle, buildOracle } from './oracle.ts'
import type { Answer } from './oracle.ts'
import { writeRecording } from './recording.ts'

const program = await buildOracle()
const answers = new Map<string, readonly Answer[]>()
for (const { name, cases } of allCases()) answers.set(name, await askOracle(program, cases))
writeRecording(answers)
