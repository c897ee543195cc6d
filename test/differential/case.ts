/** The format of the corpus: a case is data, and the same for every server. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/**
 * One request. In its path, headers and body, `{ns}` is the case's namespace, `{group}` the group of the custom
 * resources, `{run}` unique to the run, and every name in an earlier `save` its saved value.
 */
export interface RequestStep {
  readonly method: string
  readonly path: string
  /** Header names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a string unchanged. Default: none. */
  readonly body?: Json
  /** The status of the real server, so that a case tests what it claims. Default 201 for a POST, otherwise 200. */
  readonly status?: number
  /** Saves parts of the response: name → dotted path. */
  readonly save?: Readonly<Record<string, string>>
  /** Compares only these parts of the response: dotted paths. Default: the whole response. */
  readonly pick?: readonly string[]
  /** Parts of the response that controllers change and that are not compared: dotted paths, `*` for any key. */
  readonly ignore?: readonly string[]
  /** Field errors may come in any order, because the real server iterates over a map. Default false. */
  readonly unordered?: boolean
  /** Repeats the request until the status is as expected. Default false. */
  readonly eventually?: boolean
  /** `anonymous` sends no credentials, `invalid-token` an unknown token. Default: the admin. */
  readonly as?: 'anonymous' | 'invalid-token'
}

/** Opens a named watch, from which later steps read. */
export interface WatchStep {
  readonly watch: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** As in a request. Default 200. */
  readonly status?: number
}

/** Reads events from a watch: a number of them, or all until the server ends it. */
export interface ReadStep {
  readonly read: string
  readonly events: number | 'all'
  /** As in a request, for each event. */
  readonly ignore?: readonly string[]
  readonly save?: Readonly<Record<string, string>>
}

export type Step = RequestStep | WatchStep | ReadStep

export interface Case {
  readonly name: string
  readonly steps: readonly Step[]
  /** Waits until the namespace has its service account, which pods need. Default false. */
  readonly hasPods?: boolean
}

export interface CaseGroup {
  readonly name: string
  readonly cases: readonly Case[]
}
