import { applicationsConfiguration } from '../packages/tenure/src/applications.ts'
import { leasesConfiguration } from '@tenure/leases'
import type { Configuration, Table } from '@tenure/runtime'
import { referenceMarkdown } from '@tenure/runtime'
import { controlPlaneConfiguration } from '../packages/tenure/src/control-plane.ts'
import { leaseControllersConfiguration } from '../packages/tenure/src/lease-controllers.ts'
import { startConfiguration } from '../packages/tenure/src/start.ts'

const INTRODUCTION = `# Configuration

Generated from the commands' configuration tables by \`npm run reference\`: do not edit. \`--help\` prints the same.
A flag overrides the environment, the environment overrides the file of \`--config\`, and the file overrides the default. One dash
works like two. If settings are invalid, the command reports all of them and does not start.
`

/** Returns the reference page of all settings. */
export function configurationReference(): string {
  const tables: readonly Configuration<Table>[] = [
    startConfiguration,
    controlPlaneConfiguration,
    applicationsConfiguration,
    leasesConfiguration,
    leaseControllersConfiguration,
  ]
  const sections = tables.map(
    (table) => `## ${table.program}\n\n${table.summary}\n\n${referenceMarkdown(table).trimEnd()}\n`,
  )
  return [INTRODUCTION, ...sections].join('\n')
}
