import type { Clock } from '@tenure/kube'
import { cleanFacts, cleanText } from './facts.ts'
import { type Facts, type Logger, silentLogger } from './logger.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Lines for terminals: time, level, message, then the facts; an error's stack and causes follow, indented. */
export function textLogger(level: LogLevel, clock: Clock, write: (text: string) => void): Logger {
  const minimum = LOG_LEVELS.indexOf(level)
  const make = (bind: () => Facts): Logger => {
    let bound: Facts | undefined
    const facts = (): Facts => (bound ??= bind())
    const at = (level: LogLevel) => {
      if (LOG_LEVELS.indexOf(level) < minimum) return silentLogger[level]
      return (message: string, more?: Facts): void =>
        write(line(clock.now(), level, message, cleanFacts(more ? { ...facts(), ...more } : facts())))
    }
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (more) => make(() => ({ ...facts(), ...(typeof more === 'function' ? more() : more) })),
    }
  }
  return make(() => ({}))
}

function line(now: number, level: LogLevel, message: string, facts: Record<string, unknown>): string {
  let head = `${new Date(now).toISOString()} ${level.toUpperCase().padEnd(5)} ${cleanText(message)}`
  let below = ''
  for (const [key, value] of Object.entries(facts)) {
    if (value === undefined) continue
    if (isError(value)) {
      head += ` ${key}=${quoted(value.code === undefined ? value.message : `${value.message} (${value.code})`)}`
      below += stackOf(value, '    ')
    } else {
      head += ` ${key}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`
    }
  }
  return `${head}\n${below}`
}

interface CleanError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: unknown
}

function isError(value: unknown): value is CleanError {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value
}

function stackOf(error: CleanError, indent: string): string {
  const own = (error.stack?.split('\n') ?? []).map((each) => `${indent}${each.trimStart()}\n`).join('')
  if (error.cause === undefined) return own
  const { cause } = error
  if (!isError(cause)) return `${own}${indent}caused by ${JSON.stringify(cause)}\n`
  return `${own}${indent}caused by ${cause.name}: ${cause.message}\n${stackOf(cause, `${indent}  `)}`
}

/** Leaves single words unquoted. */
function quoted(text: string): string {
  return /^[\w./:@<>+-]+$/.test(text) ? text : JSON.stringify(text)
}
