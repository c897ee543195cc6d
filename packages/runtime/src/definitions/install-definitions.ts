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
 * that we do not mention stay. While the server can not be reached it is tried again, without end.
 */
export function installDefinitions(
  definitions: readonly CustomResourceDefinition[],
  options: InstallDefinitionsOptions = {},
): ComponentDefinition {
  return {
    stage: 'serve',
    create: (context) => {
      const ended = new AbortController()
      return {
        name: 'definitions',
        start: async (signal) => {
          const until = AbortSignal.any([signal, ended.signal])
          await Promise.all(
            definitions.map((definition) => new DefinitionInstaller(definition, options, context).run(until)),
          )
        },
        stop: () => {
          ended.abort(new Error('the manager stops'))
          return Promise.resolve()
        },
      }
    },
  }
}
