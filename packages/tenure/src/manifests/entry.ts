/** An object of a manifest, with its comment. */
export interface ManifestEntry {
  /** Comment lines before the object. Default: none. */
  readonly comment?: readonly string[]
  readonly object: object
}

/** The image of the operators and how the reader of a manifest applies it. */
export interface ManifestOptions {
  /** Default: the name that the manifests in deploy/ have. */
  readonly image?: string | undefined
  /** A command line, for the comments. */
  readonly apply: string
  /** The same for the CustomResourceDefinitions. */
  readonly applyDefinitions: string
}

/** A line of a comment with a command. */
export const usedAs = (commandLine: string): string => `  ${commandLine}`
