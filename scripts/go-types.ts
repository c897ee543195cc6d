/** Reads struct types from Kubernetes' Go sources. It parses only the subset of Go that API types use. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A field as encoding/json treats it. */
export interface GoField {
  /** The type name in decoding errors, pointers resolved: `int32`, `v1.PullPolicy`, `[]v1.Container`. */
  readonly type: string
  /** The embedded structs that contain the field: `ProbeHandler`. */
  readonly inlinedAs: string | undefined
  /** True if the field is written even when it is empty. */
  readonly isAlwaysWritten: boolean
  /** The value that is written for an empty field. */
  readonly zero: unknown
  readonly isOmittedWhenEmpty: boolean
  /** The element of a list or map. */
  readonly element: GoField | undefined
}

interface GoPackage {
  readonly name: string
  readonly types: ReadonlyMap<string, { readonly body: string; readonly imports: ReadonlyMap<string, string> }>
}

/** A type expression, with the package and imports that resolve its names. */
interface Expression {
  readonly text: string
  readonly from: string
  readonly imports: ReadonlyMap<string, string>
}

const BASIC = new Set(['string', 'bool', 'int', 'int32', 'int64', 'float32', 'float64', 'byte', 'uint8', 'uint32'])
const NULL_WHEN_ZERO = new Set(['v1.Time', 'v1.MicroTime'])

export class GoTypes {
  readonly #modules: string
  readonly #version: string
  readonly #packages = new Map<string, GoPackage>()

  /** `kubernetes` is a version such as `v1.36.3`; its staging modules are `v0.36.3`. */
  constructor(modules: string, kubernetes: string) {
    this.#modules = modules
    this.#version = kubernetes.replace(/^v1\./, 'v0.')
  }

  /** Returns the JSON fields of the struct behind an OpenAPI definition. */
  fieldsOf(definition: string): Map<string, GoField> {
    const parts = definition.replace(/^io\.k8s\./, 'k8s.io.').split('.')
    const name = parts.at(-1) ?? ''
    return this.#fields(`k8s.io/${parts.slice(2, -1).join('/')}`, name, undefined)
  }

  #fields(from: string, name: string, inlinedAs: string | undefined): Map<string, GoField> {
    const type = this.#package(from).types.get(name)
    if (!type) throw new Error(`No type ${name} in ${from}`)
    const fields = new Map<string, GoField>()
    for (const line of type.body.split('\n')) {
      const match = /^\s*(?:(\w+)\s+)?([\w.*[\]{}]+)\s+`([^`]*)`/.exec(line)
      if (!match) continue
      const [, declared, text = '', tags = ''] = match
      const [json = '', ...flags] = (/json:"([^"]*)"/.exec(tags)?.[1] ?? '').split(',')
      const expression: Expression = { text, from, imports: type.imports }
      if (json === '-') continue
      if (json === '' && declared === undefined) {
        const inlined = this.#locate(expression)
        const own = inlined.name
        const isTypeMeta = own === 'TypeMeta'
        const at = isTypeMeta ? inlinedAs : inlinedAs === undefined ? own : `${inlinedAs}.${own}`
        for (const [key, field] of this.#fields(inlined.from, own, at)) fields.set(key, field)
        continue
      }
      fields.set(json, this.#field(expression, flags, inlinedAs))
    }
    return fields
  }

  #field(expression: Expression, flags: readonly string[], inlinedAs: string | undefined): GoField {
    const isPointer = expression.text.startsWith('*')
    const underlying = this.#underlying({ ...expression, text: expression.text.replace(/^\*/, '') })
    const isStruct = underlying.text === 'struct'
    const type = this.#name(expression)
    const omits = flags.includes('omitempty')
    const isOmittedWhenEmpty = omits && !isPointer && !isStruct
    const isDropped = isOmittedWhenEmpty || (omits && isPointer) || flags.includes('omitzero')
    return {
      type,
      inlinedAs,
      isAlwaysWritten: !isDropped,
      zero: isDropped ? undefined : this.#zero(underlying, isPointer, type),
      isOmittedWhenEmpty,
      element: this.#element(underlying),
    }
  }

  #element(underlying: Expression): GoField | undefined {
    const text = /^(?:\[\]|map\[[^\]]+\])(.+)$/.exec(underlying.text)?.[1]
    if (text === undefined) return undefined
    const expression = { ...underlying, text }
    const inner = this.#underlying({ ...expression, text: text.replace(/^\*/, '') })
    return {
      type: this.#name(expression),
      inlinedAs: undefined,
      isAlwaysWritten: false,
      zero: undefined,
      isOmittedWhenEmpty: false,
      element: this.#element(inner),
    }
  }

  #zero(underlying: Expression, isPointer: boolean, type: string): unknown {
    if (isPointer || NULL_WHEN_ZERO.has(type) || type === 'runtime.RawExtension') return null
    switch (underlying.text) {
      case 'struct':
        if (type === 'resource.Quantity') return '0'
        if (type === 'intstr.IntOrString') return 0
        return {}
      case 'string':
        return ''
      case 'bool':
        return false
      case 'int':
      case 'int32':
      case 'int64':
      case 'float32':
      case 'float64':
        return 0
      default:
        return null
    }
  }

  /** Returns the name of a type as reflection prints it. */
  #name(expression: Expression): string {
    const { text } = expression
    const inner = (rest: string): string => this.#name({ ...expression, text: rest })
    if (text.startsWith('*')) return inner(text.slice(1))
    if (text.startsWith('[]')) {
      const element = text.slice(2)
      return `[]${element.startsWith('*') ? '*' : ''}${inner(element)}`
    }
    const map = /^map\[([^\]]+)\](.+)$/.exec(text)
    if (map) return `map[${inner(map[1] ?? '')}]${inner(map[2] ?? '')}`
    if (text === 'byte') return 'uint8'
    if (BASIC.has(text) || text === 'interface{}') return text
    const { from, name } = this.#locate(expression)
    return `${this.#package(from).name}.${name}`
  }

  /** Returns the underlying type of a named type: `struct`, a basic type, a list or a map. */
  #underlying(expression: Expression): Expression {
    const { text } = expression
    if (BASIC.has(text) || /^(\[|map\[|interface)/.test(text)) return expression
    const { from, name } = this.#locate(expression)
    const type = this.#package(from).types.get(name)
    if (!type) throw new Error(`No type ${name} in ${from}`)
    if (type.body.startsWith('struct')) return { text: 'struct', from, imports: type.imports }
    return this.#underlying({ text: type.body.replace(/^=\s*/, '').trim(), from, imports: type.imports })
  }

  #locate({ text, from, imports }: Expression): { readonly from: string; readonly name: string } {
    const [first = '', second] = text.replace(/^\*/, '').split('.')
    if (second === undefined) return { from, name: first }
    const imported = imports.get(first)
    if (imported === undefined) throw new Error(`${from} does not import ${first}`)
    return { from: imported, name: second }
  }

  #package(importPath: string): GoPackage {
    const known = this.#packages.get(importPath)
    if (known) return known
    const [host = '', module = '', ...rest] = importPath.split('/')
    const directory = path.join(this.#modules, host, `${module}@${this.#version}`, ...rest)
    const types = new Map<string, { readonly body: string; readonly imports: ReadonlyMap<string, string> }>()
    let name = ''
    const files = readdirSync(directory).filter((file) => file.endsWith('.go') && !/_test\.go$|generated/.test(file))
    for (const file of files) {
      const source = readFileSync(path.join(directory, file), 'utf8')
        .replace(/\/\/.*$/gm, '')
        .replace(/\/\*[\s\S]*?\*\//g, '')
      name = /^package (\w+)/m.exec(source)?.[1] ?? name
      const imports = importsOf(source)
      for (const match of source.matchAll(/^type (\w+)\s+(=?\s*)(struct\s*\{|[^\n({]+)/gm)) {
        const [whole, type = '', , start = ''] = match
        const isStruct = start.startsWith('struct')
        const end = isStruct ? source.indexOf('\n}', match.index) : match.index + whole.length
        types.set(type, { body: isStruct ? `struct${source.slice(match.index + whole.length, end)}` : start, imports })
      }
    }
    const found = { name, types }
    this.#packages.set(importPath, found)
    return found
  }
}

function importsOf(source: string): ReadonlyMap<string, string> {
  const imports = new Map<string, string>()
  for (const [, alias, importPath = ''] of source.matchAll(/^\s*(?:import )?(?:(\w+) )?"([\w./-]+)"\s*$/gm)) {
    imports.set(alias ?? importPath.slice(importPath.lastIndexOf('/') + 1), importPath)
  }
  return imports
}
