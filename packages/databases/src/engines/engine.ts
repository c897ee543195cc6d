import type { EnvVar, Probe } from '@tenure/kube/kinds'
import type { EngineSettings, SettingsFormat } from './settings.ts'

export const ENGINE_NAMES = ['postgresql', 'mariadb', 'redis', 'valkey'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]

/** The user of an image and its group, which also owns the volume. */
export interface ImageUser {
  readonly uid: number
  readonly gid: number
}

/** The file system of an image of one major version. */
export interface EngineLayout {
  /** The image that a row gets if it names neither image nor version. */
  readonly image: string
  /** The mount point of the volume. */
  readonly mountPath: string
  /** The directory with the data, at or below the mount point. */
  readonly dataDirectory: string
}

/** Values that all parts of one database share. */
export interface EngineContext {
  readonly layout: EngineLayout
  readonly settings: EngineSettings
  /** In bytes; the container is killed above it. */
  readonly memoryLimit: number
  readonly secretName: string
  /** The host name of pod 0. */
  readonly primaryHost: string
}

/** A file that a container reads, and the directory or file at which it is mounted. */
export interface MountedFile {
  readonly name: string
  readonly path: string
}

/** Probes as commands; no command contains a password. */
export interface EngineProbes {
  readonly startup: Probe
  readonly readiness: Probe
  readonly liveness: Probe
}

/** One database engine: everything that differs from the others, and nothing about Kubernetes objects as a whole. */
export interface Engine {
  readonly name: EngineName
  /** For messages. */
  readonly title: string
  readonly port: number
  readonly portName: string
  /** The repository of the official image, as Docker Hub spells it. */
  readonly repository: string
  /** Supported major versions, oldest first. */
  readonly layouts: ReadonlyMap<string, EngineLayout>
  readonly defaultMajor: string
  /** Whether more than one pod is one database. */
  readonly isReplicated: boolean
  /** A change between an Alpine and another image of the same version makes the data unusable. */
  readonly isBoundToVariant: boolean
  readonly format: SettingsFormat
  readonly defaultMemoryLimit: string
  readonly terminationGracePeriodSeconds: number
  /** Keys of the Secret with generated passwords. */
  readonly passwordKeys: readonly string[]
  /** The scheme of the URI that clients understand. */
  readonly uriScheme: string
  /** The JDBC subprotocol; undefined if no common driver exists. */
  readonly jdbcScheme: string | undefined
  /** Of the version in a tag or in `version`, such as `16.4-alpine`; undefined if the text does not tell. */
  majorOf(version: string): string | undefined
  imageFor(version: string): string
  userOf(image: string): ImageUser
  /** The settings file, as the ConfigMap holds it. */
  settingsFile: MountedFile
  renderSettings(context: EngineContext): string
  /** A file with passwords, as the Secret holds it; undefined if the environment is enough. */
  readonly secretFile: (MountedFile & { render(password: string): string }) | undefined
  env(context: EngineContext): readonly EnvVar[]
  readonly args: readonly string[]
  readonly probes: EngineProbes
  /** Whether PostgreSQL's dynamic shared memory needs more than the 64 MiB of a container. */
  readonly needsSharedMemory: boolean
}

/** The numbers of a version at the start of a tag: `16.4-alpine` is [16, 4]. Empty for `latest` and for previews. */
export function versionNumbers(version: string): readonly string[] {
  return /^(\d{1,5}(?:\.\d{1,5})*)(?:-|$)/.exec(version)?.[1]?.split('.') ?? []
}

/** Whether an image is based on Alpine, by its tag. */
export const isAlpine = (image: string): boolean => /:[^/@]*alpine[^/]*$/.test(image.split('@')[0] ?? '')

export function secretEnv(name: string, secretName: string, key: string): EnvVar {
  return { name, valueFrom: { secretKeyRef: { name: secretName, key } } }
}

/** How often a probe runs, in seconds. */
const PROBE_PERIOD_SECONDS = 10
const STARTUP_PROBE_PERIOD_SECONDS = 5
const PROBE_TIMEOUT_SECONDS = 5
/** Crash recovery of a large database takes long, and a restart would only begin it again. */
const MAX_STARTUP_SECONDS = 3_600
/** Liveness allows a minute of overload before the container is restarted. */
const MAX_LIVENESS_FAILURES = 6

function execProbe(command: readonly string[], periodSeconds: number, failureThreshold: number): Probe {
  return { exec: { command }, periodSeconds, timeoutSeconds: PROBE_TIMEOUT_SECONDS, failureThreshold }
}

/** The three probes of an engine from the commands that they run. */
export function probesOf(commands: Readonly<Record<keyof EngineProbes, readonly string[]>>): EngineProbes {
  const startupFailures = MAX_STARTUP_SECONDS / STARTUP_PROBE_PERIOD_SECONDS
  return {
    startup: execProbe(commands.startup, STARTUP_PROBE_PERIOD_SECONDS, startupFailures),
    readiness: execProbe(commands.readiness, PROBE_PERIOD_SECONDS, 3),
    liveness: execProbe(commands.liveness, PROBE_PERIOD_SECONDS, MAX_LIVENESS_FAILURES),
  }
}
