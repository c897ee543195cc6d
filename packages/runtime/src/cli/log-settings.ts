import { logConfig, type Table, type Values } from '../configuration/index.ts'
import type { Logger } from '../log/logger.ts'
import { createLogger } from '../log/pino-logger.ts'

/** Log settings of commands that talk to people on their own: they log less than operators on a cluster. */
export const logTable = {
  logLevel: { ...logConfig.logLevel, clusterOnly: false, default: 'warn' },
  logFormat: { ...logConfig.logFormat, clusterOnly: false },
  verbose: { type: 'boolean', default: false, meaning: 'Log what happens: as --log-level info.' },
} as const satisfies Table

export function loggerOf({ logFormat: format, logLevel, verbose }: Values<typeof logTable>): Promise<Logger> {
  return createLogger({ level: verbose && logLevel === 'warn' ? 'info' : logLevel, format })
}
