import type { Clock } from '@tenure/kube'
import { TenureError, systemClock } from '@tenure/kube'
import { cleanFacts, cleanText } from './facts.ts'
import { LOG_LEVELS, textLogger } from './text-logger.ts'
import type { LogLevel } from './text-logger.ts'
import { type Facts, type Logger, silentLogger } from './logger.ts'

export interface CreateLoggerOptions {
  /** Lowest level that is written. Default `info`. */
  readonly level?: LogLevel
  /** `json` writes one JSON object per line, `text` is for people. Default: `text` if standard error is a terminal, else `json`. */
  readonly format?: 'json' | 'text' | undefined
  /** Receives the lines. Written synchronously, so that a crash loses none. Default: standard error. */
  readonly destination?: { write(text: string): unknown }
  /** Default: the system clock. */
  readonly clock?: Clock
}

/**
 * Creates a logger that hides secrets and writes errors with their code, stack and causes. pino is loaded only for
 * JSON.
 */
export async function createLogger(options: CreateLoggerOptions = {}): Promise<Logger> {
  const { level = 'info', clock = systemClock } = options
  const isTerminal = options.destination === undefined && process.stderr.isTTY
  const format = options.format ?? (isTerminal ? 'text' : 'json')
  if (!LOG_LEVELS.includes(level)) {
    throw new TenureError(
      'TENURE_LOG_LEVEL',
      `Unknown log level ${JSON.stringify(level)}; use one of ${LOG_LEVELS.join(', ')}.`,
    )
  }
  if (format === 'text') {
    const destination = options.destination ?? process.stderr
    return textLogger(level, clock, (text) => void destination.write(text))
  }
  const { destination, pino } = await import('pino')
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    options.destination
      ? { write: (text: string) => void options.destination?.write(text) }
      : destination({ fd: 2, sync: true }),
  )
  return jsonLogger(logger)
}

/** The part of pino's interface that is used here. */
interface PinoLogger {
  isLevelEnabled(level: string): boolean
  child(bindings: Record<string, unknown>): PinoLogger
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

function jsonLogger(pino: PinoLogger): Logger {
  const enabled = new Set(LOG_LEVELS.filter((level) => pino.isLevelEnabled(level)))
  // Most loggers of a single reconcile or request write nothing, so their pino loggers are made with the first line.
  const make = (open: () => PinoLogger): Logger => {
    let opened: PinoLogger | undefined
    const logger = (): PinoLogger => (opened ??= open())
    const at = (level: LogLevel) => {
      // A disabled level must cost nothing: its facts are not inspected.
      if (!enabled.has(level)) return silentLogger[level]
      return (message: string, facts?: Facts): void =>
        logger()[level](facts ? cleanFacts(facts) : {}, cleanText(message))
    }
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (facts) => make(() => logger().child(cleanFacts(typeof facts === 'function' ? facts() : facts))),
    }
  }
  return make(() => pino)
}
