import type { Operator } from '@tenure/runtime'
import { type Configuration, defineConfiguration, type Table, type Values } from '@tenure/runtime/configuration'
import { checkNames } from './cli/choose-names.ts'
import { argumentError } from './cli/usage-error.ts'
import { combinedOperators, combinedTable } from './combined-settings.ts'
import { configVariables, runOnCluster } from './run-operator.ts'

const choiceTable = {
  operators: {
    type: 'list',
    environment: 'TENURE_OPERATORS',
    meaning: 'Operators to run. Default: all.',
  },
  without: {
    type: 'list',
    environment: 'TENURE_WITHOUT',
    meaning: 'Operators not to run.',
  },
} as const satisfies Table

type Choice = Values<typeof choiceTable>

/** The settings of `tenure operator`. */
export function combinedConfiguration(operators: readonly Operator[]): Configuration<Table> {
  const names = operators.map(({ name }) => name).join(', ')
  return defineConfiguration({
    program: 'tenure operator',
    summary: `Run all operators on a cluster in one process: ${names}. Each is elected on its own.`,
    options: { ...choiceTable, ...combinedTable(operators) },
    configEnvironment: configVariables(operators),
  })
}

/** Runs the operators that the settings choose, until `signal` aborts. */
export async function runCombinedOperators(
  all: readonly Operator[],
  settings: Values<Table>,
  signal: AbortSignal,
): Promise<void> {
  // The table has these rows.
  const chosen = chooseOperators(all, settings as unknown as Choice)
  const process = { configuration: combinedConfiguration(all), settings }
  await runOnCluster(combinedOperators(chosen, all, settings), process, signal)
}

/** The operators of `--operators`, without those of `--without`. */
export function chooseOperators(all: readonly Operator[], { operators, without = [] }: Choice): readonly Operator[] {
  const names = all.map(({ name }) => name)
  checkNames('operator', [...(operators ?? []), ...without], names)
  const chosen = all.filter(({ name }) => (operators?.includes(name) ?? true) && !without.includes(name))
  if (chosen.length > 0) return chosen
  throw argumentError('No operator is left to run: choose others with --operators and --without.')
}
