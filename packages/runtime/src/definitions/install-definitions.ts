import { asError } from '@tenure/kube'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import type { ComponentDefinition } from '../manager/component.ts'
import { DefinitionInstaller } from './definition-installer.ts'

export interface InstallDefinitionsOptions {
  /** In whose name the fields of the definitions are owned. Default `tenure`, as the manager's. */
  readonly fieldManager?: string
  /** False: somebody else installs them, and this only waits until they are there. Default true. */
  readonly install?: boolean
  /** What to tell people to apply if a definition is missing and may not be installed. Default: its name. */
  readonly manifest?: string
}

/**
 * Installs and upgrades CustomResourceDefinitions before caches are filled, and waits until the server serves them.
 * One that is as it should be is not written; one of a newer edition (`DEFINITION_VERSION`) is left as it is; fields
 * that we do not mention stay. While the server can not be reached it is tried again, without end. One that is being
 * deleted is installed again when it is gone; if it has objects that is not waited for, because they may wait for us.
 */
export function installDefinitions(
  definitions: readonly CustomResourceDefinition[],
  options: InstallDefinitionsOptions = {},
): ComponentDefinition {
  return {
    stage: 'serve',
    create: (context) => {
      const ended = new AbortController()
      const later: Promise<void>[] = []
      const install = async (definition: CustomResourceDefinition, until: AbortSignal): Promise<void> => {
        const installer = new DefinitionInstaller(definition, options, context)
        if ((await installer.run(until)) === 'served') return
        const installing = installer.runOn(ended.signal).catch((error: unknown) => {
          if (!ended.signal.aborted) context.log.error('definition not installed again', { error: asError(error) })
        })
        later.push(installing)
      }
      return {
        name: 'definitions',
        start: async (signal) => {
          const until = AbortSignal.any([signal, ended.signal])
          await Promise.all(definitions.map((definition) => install(definition, until)))
        },
        stop: async () => {
          ended.abort(new Error('the manager stops'))
          await Promise.all(later)
        },
      }
    },
  }
}
