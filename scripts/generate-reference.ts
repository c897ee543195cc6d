// npm run reference: writes docs/reference/configuration.md from the configuration tables.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { configurationReference } from './reference.ts'

writeFileSync(path.resolve(import.meta.dirname, '../docs/reference/configuration.md'), configurationReference())
