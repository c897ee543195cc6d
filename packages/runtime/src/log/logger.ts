/** Key-values of a log line. Messages are constant; everything that varies is a fact. */
export type Facts = Readonly<Record<string, unknown>>

/** Structured logger. An `error` fact that is an Error is written with its code, stack and causes. */
export interface Logger {
  debug(message: string, facts?: Facts): void
  info(message: string, facts?: Facts): void
  warn(message: string, facts?: Facts): void
  error(message: string, facts?: Facts): void
  /** A logger that adds `facts` to every line. A function is called when the first line is written, or never. */
  child(facts: Facts | (() => Facts)): Logger
}

/** Discards everything. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
