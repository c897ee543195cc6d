export interface StreamRequest {
  readonly method: string
  /** With the server's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly signal?: AbortSignal | undefined
}

/** One that may be sent in a head as it is. */
const PATH = /^[\x21-\x7e\x80-\xff]+$/
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Throws if a path or header could be read as anything else than itself. */
export function requestHead({ method, path, headers }: StreamRequest, host: string): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  let isSound = PATH.test(path)
  for (const [name, given] of Object.entries(headers)) {
    for (const value of typeof given === 'string' ? [given] : given) {
      isSound &&= NAME.test(name) && VALUE.test(value)
      head += `${name}: ${value}\r\n`
    }
  }
  if (isSound) return `${head}\r\n`
  throw coded('UND_ERR_INVALID_ARG', 'its path or a header has characters that cannot be sent')
}

/** An error with one of undici's codes, so that one table of sentences does for both. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

export function closedError(): Error {
  return coded('UND_ERR_CLOSED', 'closed by this program')
}
