import { httpConfig } from '@tenure/http'
import { TenureError } from '@tenure/kube'
import { type ConfiguredOperator, configure, type Operator } from '@tenure/runtime'
import {
  defaultValues,
  defineConfiguration,
  leaderElectionConfig,
  type Option,
  type Table,
  type Values,
  webhookConfig,
} from '@tenure/runtime/configuration'
import type { AddressCheck } from './start/checks.ts'

/** Settings that all operators of a process share: each row is there once. */
const SHARED: Table = { ...httpConfig, ...leaderElectionConfig, ...webhookConfig }

/**
 * The settings of several operators on the embedded control plane: their tables without the rows that only matter on a
 * cluster, with the defaults that they have there. Two operators must not have a setting of the same name.
 */
export function embeddedTable(operators: readonly Operator[]): Table {
  const table: Record<string, Option> = {}
  for (const operator of operators) {
    for (const [key, option] of Object.entries<Option>(operator.config)) {
      if (option.clusterOnly) continue
      const shared = SHARED[key]
      if (table[key] && !shared) {
        throw new TenureError('TENURE_CONFIGURATION_TABLE', `Two operators have the setting ${key}.`, { fate: 'bug' })
      }
      table[key] = shared ?? withDefault(option, operator.embedded[key])
    }
  }
  return table
}

/** An operator with its settings among those of all: the defaults, then its embedded ones, then what was set. */
export function embeddedOperator(operator: Operator, settings: Values<Table>): ConfiguredOperator {
  // A setting that only matters on a cluster is not among them: a value of that name is another operator's.
  const isOwn = (key: string): boolean => operator.config[key] !== undefined && !operator.config[key].clusterOnly
  const own = Object.entries(settings).filter(([key, value]) => isOwn(key) && value !== undefined)
  return configure(operator, {
    ...defaultValues(operator.config),
    ...operator.embedded,
    ...Object.fromEntries(own),
  })
}

/** The values that operators have on the embedded control plane if they are not set. */
export function embeddedDefaults(operators: readonly Operator[]): ReadonlySet<unknown> {
  return new Set(operators.flatMap(({ embedded }) => Object.values(embedded)))
}

/** The addresses of servers of single operators, from their settings, to check before anything is started. */
export function embeddedAddresses(operators: readonly Operator[], settings: Values<Table>): readonly AddressCheck[] {
  const { rows } = defineConfiguration({ program: 'tenure start', summary: '', options: embeddedTable(operators) })
  const defaults = embeddedDefaults(operators)
  return rows.flatMap(({ key, option, environment, flag }) => {
    const address = settings[key]
    if (option.type !== 'address' || typeof address !== 'string') return []
    const setting = environment ?? `--${flag ?? key}`
    return [{ address, what: `the server of ${setting}`, setting, whenTaken: defaults.has(address) ? 'next' : 'fail' }]
  })
}

function withDefault(option: Option, value: unknown): Option {
  // The value is of the option's own type: `embedded` is typed by the operator's table.
  return value === undefined ? option : ({ ...option, default: value } as Option)
}
