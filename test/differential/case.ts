/** What the corpus is written in: a case is data, and the same for every server. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/**
 * One request. In its path, headers and body `{ns}` stands for the case's namespace, `{group}` for the group of the
 * corpus' custom resources, `{run}` for something unique to the run, and every name in an earlier step's `save` for
 * what was saved.
 */
export interface RequestStep {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a text as it is. Default none. */
  readonly body?: Json
  /** What the real server answers, which keeps the corpus honest: a case tests what it says. Default 201 to a POST, else 200. */
  readonly status?: number
  /** Keeps parts of the answer under names: name → dotted path. */
  readonly save?: Readonly<Record<string, string>>
  /** Compares only these parts of the answer: dotted paths. Default all of it. */
  readonly pick?: readonly string[]
  /** Parts of the answer that are not compared, because controllers change them meanwhile: dotted paths, `*` for any key. */
  readonly ignore?: readonly string[]
  /** Complaints may come in any order: the real server's walks a map. Default false. */
  readonly unordered?: boolean
  /** Repeats the request until the status is as expected: for what happens some time later. Default false. */
  readonly eventually?: boolean
  /** `nobody` brings no credentials, `stranger` a token that means nothing. Default the admin. */
  readonly as?: 'nobody' | 'stranger'
}

/** Opens a watch under a name, for later steps to read from. */
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
  /** As in a request, of each event. */
  readonly ignore?: readonly string[]
  readonly save?: Readonly<Record<string, string>>
}

export type Step = RequestStep | WatchStep | ReadStep

export interface Case {
  readonly name: string
  readonly steps: readonly Step[]
  /** Waits until the namespace has its service account, without which there are no pods. Default false. */
  readonly hasPods?: boolean
}

export interface CaseGroup {
  readonly name: string
  readonly cases: readonly Case[]
}
