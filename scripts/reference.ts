import { applicationsConfiguration } from '@tenure/applications'
import { leasesConfiguration } from '@tenure/leases'
import type { Configuration, Table } from '@tenure/runtime'
import { referenceMarkdown } from '@tenure/runtime'
import { controlPlaneConfiguration } from '../packages/tenure/src/control-plane.ts'
import { leaseControllersConfiguration } from '../packages/tenure/src/lease-controllers.ts'
import { startConfiguration } from '../packages/tenure/src/start.ts'

const INTRODUCTION = `# Configuration

Printed from the tables that the commands themselves read, by \`npm run reference\`: do not edit. \`--help\` shows the same.
A flag wins over the environment, that over the file that \`--config\` names, that over the default. One dash does as
well as two. Everything that is wrong is said at once, and nothing is started.
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
