// npm run reference: writes the pages of docs/reference that are generated from code.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { programArguments } from './program-help.ts'
import { referencePages } from './reference/pages.ts'

programArguments(
  { usage: 'npm run reference', summary: 'Write the pages of docs/reference that are printed from code.' },
  {},
)
const folder = path.resolve(import.meta.dirname, '../docs/reference')
for (const [file, text] of Object.entries(await referencePages())) writeFileSync(path.join(folder, file), text)
