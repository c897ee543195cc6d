import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@tenure/kube/model'
import type { Component, OperatorContext } from '@tenure/runtime'
import { claimsConfig } from '../../config.ts'
import type { PoolTemplateSource } from '../../handout/pools.ts'
import type { PoolInputs } from '../../pool-settings.ts'
import { poolTemplate } from '../pool-template.ts'
import { ClaimTemplateError, type PoolTemplate } from '../types.ts'
import { TextFile, type TextSource } from './text-file.ts'
import { ValuesConfigMap } from './values-config-map.ts'
import { type ValuesCheck, valuesCheck } from './values-schema.ts'

type LiveTemplateContext = Pick<OperatorContext, 'informers' | 'clock' | 'random' | 'log'>

/** One version of a template: usable, or with the reason why it is not. */
interface Version {
  readonly templateText: string
  readonly valuesText: string
  readonly template: PoolTemplate | ClaimTemplateError
}

/** The template of a pool and its values, read again when they change. */
export class LiveTemplate implements PoolTemplateSource, Component {
  readonly name: string
  readonly #context: LiveTemplateContext
  readonly #namespace: string
  readonly #template: TextSource
  readonly #values: TextSource
  readonly #configMap: ValuesConfigMap | undefined
  readonly #check: ValuesCheck
  readonly #listeners = new Set<() => void>()
  #version: Version | undefined

  /** Throws a TenureError if a file cannot be read. A template that is wrong is reported by `current`. */
  constructor(
    context: LiveTemplateContext,
    options: { readonly pool: string; readonly namespace: string; readonly inputs: PoolInputs },
  ) {
    const { inputs, namespace, pool } = options
    const { valuesConfigMap, valuesSchemaPath: schemaPath } = inputs
    this.name = `template of the pool ${pool}`
    this.#context = context
    this.#namespace = namespace
    const { templatePath, valuesPath } = withPackaged(inputs)
    this.#template = new TextFile(templatePath, 'The template', context)
    this.#configMap = valuesConfigMap && new ValuesConfigMap(context, { namespace, ...valuesConfigMap })
    this.#values = this.#configMap ?? new TextFile(valuesPath, 'The values file', context)
    this.#check =
      schemaPath === undefined
        ? () => undefined
        : valuesCheck(new TextFile(schemaPath, 'The JSON Schema', context).text, schemaPath)
  }

  get owner(): PoolTemplateSource['owner'] {
    return this.#configMap?.owner
  }

  current(): PoolTemplate {
    const { template } = this.#read()
    if (template instanceof ClaimTemplateError) throw template
    return template
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  checkValues(values: JsonObject): string | undefined {
    return this.#check(values)
  }

  start(): Promise<void> {
    const changed = (): void => {
      for (const listener of this.#listeners) listener()
    }
    this.#template.start(changed)
    this.#values.start(changed)
    return Promise.resolve()
  }

  stop(): Promise<void> {
    this.#template.stop()
    this.#values.stop()
    return Promise.resolve()
  }

  #read(): Version {
    const templateText = this.#template.text
    const valuesText = this.#values.text
    const known = this.#version
    if (known?.templateText === templateText && known.valuesText === valuesText) return known
    this.#version = { templateText, valuesText, template: this.#parse(templateText, valuesText) }
    return this.#version
  }

  #parse(templateText: string, valuesText: string): PoolTemplate | ClaimTemplateError {
    const { clock, random } = this.#context
    try {
      return poolTemplate({
        templateText,
        valuesText,
        namespace: this.#namespace,
        now: () => clock.now(),
        randomBytes: (count) => random.bytes(count),
      })
    } catch (error) {
      if (error instanceof ClaimTemplateError) return error
      throw error
    }
  }
}

/** The default files, if they are not there, are those of this package. */
function withPackaged({ templatePath, valuesPath }: PoolInputs): Pick<PoolInputs, 'templatePath' | 'valuesPath'> {
  const isDefault = templatePath === claimsConfig.templatePath.default
  if (!isDefault || existsSync(templatePath)) return { templatePath, valuesPath }
  const useOwnValues = valuesPath === claimsConfig.valuesPath.default && !existsSync(valuesPath)
  return {
    templatePath: packaged('resources.yaml'),
    valuesPath: useOwnValues ? packaged('values.yaml') : valuesPath,
  }
}

function packaged(file: string): string {
  return fileURLToPath(new URL(`../../../config/template/${file}`, import.meta.url))
}
