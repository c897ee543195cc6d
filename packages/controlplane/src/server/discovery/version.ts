/** The response of `/version`: the Kubernetes release whose behaviour this is. */
export const KUBERNETES_VERSION = 'v1.36.3+tenure'

export const VERSION_DOCUMENT = JSON.stringify(
  {
    major: '1',
    minor: '36',
    emulationMajor: '1',
    emulationMinor: '36',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '35',
    gitVersion: KUBERNETES_VERSION,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  },
  null,
  2,
)
