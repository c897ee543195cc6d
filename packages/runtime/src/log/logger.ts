/** Key-values that go with a message. Messages are constant, what varies is a fact. */
export type Facts = Readonly<Record<string, unknown>>

/** Structured logs. An `error` fact that is an Error is written with its code, stack and causes. */
export interface Logger {
  debug(message: string, facts?: Facts): void
  info(message: string, facts?: Facts): void
  warn(message: string, facts?: Facts): void
  error(message: string, facts?: Facts): void
  /** A logger that adds `facts` to every line. */
  child(facts: Facts): Logger
}

/** Says nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
