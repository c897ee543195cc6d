import { type Configuration, referenceMarkdown, type Table } from '@tenure/runtime/configuration'
import { combinedConfiguration } from '../packages/tenure/src/combined-operators.ts'
import { controlPlaneConfiguration } from '../packages/tenure/src/control-plane.ts'
import { clusterOperators, operators } from '../packages/tenure/src/loaded-operators.ts'
import { operatorConfiguration } from '../packages/tenure/src/run-operator.ts'
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
    combinedConfiguration(operators),
    ...[...operators, ...clusterOperators].map(operatorConfiguration),
  ]
  const sections = tables.map(
    (table) => `## ${table.program}\n\n${table.summary}\n\n${referenceMarkdown(table).trimEnd()}\n`,
  )
  return [INTRODUCTION, ...sections].join('\n')
}
