import { readFileSync } from 'node:fs'

/** The facts about a build that are known. */
export interface BuildInfo {
  readonly version: string
  /** The time at which the image was built. */
  readonly buildTime?: string
  readonly gitCommit?: string
  /** Node's version. */
  readonly node: string
  /** `linux/x64`. */
  readonly platform: string
}

/** The version of this command: that of the image, or of the package. */
export function readVersion(env: NodeJS.ProcessEnv = process.env): string {
  return env['TENURE_VERSION'] || packageVersion()
}

/** The image sets the variables from its build arguments; a package has its version only. */
export function readBuildInfo(environment: NodeJS.ProcessEnv = process.env): BuildInfo {
  const { TENURE_BUILD_TIME: buildTime, TENURE_GIT_COMMIT: gitCommit } = environment
  return {
    version: readVersion(environment),
    ...(buildTime && { buildTime }),
    ...(gitCommit && { gitCommit }),
    node: process.versions.node,
    platform: `${process.platform}/${process.arch}`,
  }
}

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
