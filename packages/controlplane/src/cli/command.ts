import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Logger, whenAborted } from '@tenure/runtime'
import { logTable } from '@tenure/runtime/cli'
import { defineConfiguration, type Values } from '@tenure/runtime/configuration'
import { startControlPlane } from '../control-plane.ts'
import { makeDirectory, replaceFile } from '../durable-files.ts'
import { choosePort, openDirectory, type OpenDirectory } from '../host/open-directory.ts'

// No variable of the environment sets these: KUBECONFIG and PORT mean something else.
const table = {
  data: {
    type: 'string',
    environment: false,
    meaning: 'Directory of the data. Default: in memory, lost with the process.',
  },
  port: {
    type: 'integer',
    min: 0,
    max: 65_535,
    environment: false,
    meaning: 'Port of the Kubernetes API. Default: any free port, with --data the one of the last run.',
  },
  kubeconfig: {
    type: 'string',
    environment: false,
    meaning:
      'File to write the kubeconfig to; standard output then gets its path. Default: standard output gets the kubeconfig, one line of JSON.',
  },
  ...logTable,
} as const

export const controlPlaneProgram = defineConfiguration({
  program: 'tenure-controlplane',
  summary: 'Runs a Kubernetes API in this process until Ctrl-C, and prints its kubeconfig once it serves.',
  options: table,
})

export interface ProgramOutput {
  /** Gets the kubeconfig, or the path of its file: one line. */
  readonly print: (line: string) => void
  /** Gets what people should know. */
  readonly say: (line: string) => void
  readonly log: Logger
}

/** Runs a control plane until `signal` aborts. */
export async function runProgram(
  settings: Pick<Values<typeof table>, 'data' | 'kubeconfig' | 'port'>,
  output: ProgramOutput,
  signal: AbortSignal,
): Promise<void> {
  const { say } = output
  const file = settings.kubeconfig === undefined ? undefined : path.resolve(settings.kubeconfig)
  const announce = (url: string, kubeconfig: string, where: string): void => {
    if (file === undefined) output.print(JSON.stringify(JSON.parse(kubeconfig)))
    else {
      makeDirectory(path.dirname(file))
      replaceFile(file, kubeconfig)
      output.print(file)
    }
    say(`Kubernetes API at ${url}, ${where}. Ctrl-C ends it.`)
  }
  const portOptions = { port: settings.port, usualPort: 0, portSetting: '--port', say }
  const open = settings.data === undefined ? await openInMemory() : await openOnDisk(path.resolve(settings.data))
  try {
    await Promise.race([open.failed, whenAborted(signal)])
  } finally {
    await open.close()
  }

  async function openInMemory(): Promise<Pick<OpenDirectory, 'close' | 'failed'>> {
    const port = await choosePort(portOptions)
    const plane = await startControlPlane({ port, log: output.log })
    announce(plane.url ?? '', plane.kubeconfig ?? '', 'in memory')
    return { failed: new Promise<never>(() => undefined), close: () => plane.stop() }
  }

  function openOnDisk(directory: string): Promise<OpenDirectory> {
    const options = {
      ...portOptions,
      directory,
      log: output.log,
      onServing: ({ url, kubeconfig, pid, isHosted }) =>
        announce(
          url,
          readFileSync(kubeconfig, 'utf8'),
          `data in ${directory}${isHosted ? '' : `, hosted by pid ${pid}`}`,
        ),
    } satisfies Parameters<typeof openDirectory>[0]
    return openDirectory(options, signal)
  }
}
