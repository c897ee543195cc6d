import { asError } from '@tenure/kube'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import type { ComponentDefinition } from '../manager/component.ts'
import { DefinitionInstaller } from './definition-installer.ts'

export interface InstallDefinitionsOptions {
  /** Field manager that owns the fields of the definitions. Default `tenure`, as the manager's. */
  readonly fieldManager?: string
  /** False: wait for the definitions without installing them. Default true. */
  readonly install?: boolean
  /**
   * Manifest named in the error if a definition is missing and may not be installed. Default: the name of the
   * definition.
   */
  readonly manifest?: string
}

/**
 * Installs and upgrades CustomResourceDefinitions before the caches start, and waits until the server serves them. An
 * up-to-date definition is not written; a newer one (`DEFINITION_VERSION`) is kept; fields that are not mentioned stay.
 * Retries forever while the server is unreachable. A definition that is being deleted is reinstalled once it is gone;
 * if it still has objects, startup does not wait for that, because their finalizers may belong to this process.
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
          if (!ended.signal.aborted) context.log.error('failed to reinstall definition', { error: asError(error) })
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
          ended.abort(new Error('the manager is stopping'))
          await Promise.all(later)
        },
      }
    },
  }
}
