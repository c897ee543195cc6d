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
 * if it still has objects, startup does not wait for that, because their finalizers may belong to this process. One that
 * is deleted later is installed again when its watch finds it missing.
 */
export function installDefinitions(
  definitions: readonly CustomResourceDefinition[],
  options: InstallDefinitionsOptions = {},
): ComponentDefinition {
  return {
    stage: 'serve',
    create: (context) => {
      const ended = new AbortController()
      const { install: isInstalling = true } = options
      /** Definitions that are being installed again, by `plural.group`. */
      const reinstalling = new Map<string, Promise<void>>()
      const installers = new Map<string, DefinitionInstaller>()
      const reinstall = (name: string, installer: DefinitionInstaller): void => {
        if (reinstalling.has(name) || ended.signal.aborted) return
        const installing = installer
          .runOn(ended.signal)
          .catch((error: unknown) => {
            if (!ended.signal.aborted) context.log.error('failed to reinstall definition', { error: asError(error) })
          })
          .finally(() => reinstalling.delete(name))
        reinstalling.set(name, installing)
      }
      const install = async (definition: CustomResourceDefinition, until: AbortSignal): Promise<void> => {
        const installer = new DefinitionInstaller(definition, options, context)
        const name = definition.metadata?.name ?? ''
        installers.set(name, installer)
        if ((await installer.run(until)) !== 'served') reinstall(name, installer)
      }
      const unwatch = context.informers.onUnknownKind(({ group, plural }) => {
        const name = `${plural}.${group}`
        const installer = installers.get(name)
        if (!installer || !isInstalling || reinstalling.has(name)) return
        context.log.warn('definition is gone, installing it again', { definition: name })
        reinstall(name, installer)
      })
      return {
        name: 'definitions',
        start: async (signal) => {
          const until = AbortSignal.any([signal, ended.signal])
          await Promise.all(definitions.map((definition) => install(definition, until)))
        },
        stop: async () => {
          unwatch()
          ended.abort(new Error('the manager is stopping'))
          await Promise.all(reinstalling.values())
        },
      }
    },
  }
}
