/** `.Files`: the files of a chart that are not templates. */
import { yamlText } from '../data/yaml.ts'
import { stringValue } from '../functions/conversions.ts'
import { fn } from '../functions/define.ts'
import { base } from '../functions/paths.ts'
import { toBytes } from '../values/bytes.ts'
import type { GoFunction } from '../values/go-function.ts'
import { registerMethods } from '../values/methods.ts'
import type { MethodTable } from '../values/methods.ts'
import { GoInt, GoList, NamedMap, stringList } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { globPattern } from './glob.ts'

const TYPE = 'engine.files'

export function filesValue(files: ReadonlyMap<string, string>): NamedMap {
  return new NamedMap(
    TYPE,
    '[]uint8',
    [...files].map(([name, content]): [string, GoValue] => [name, bytesValue(content)]),
  )
}

const bytesValue = (text: string): GoList =>
  new GoList(
    '[]uint8',
    [...toBytes(text)].map((byte) => new GoInt('uint8', BigInt(byte))),
  )

type Files = ReadonlyMap<string, GoValue>

const contentOf = (files: Files, name: string): string => {
  const content = files.get(name)
  return content === undefined ? '' : stringValue(content)
}

/** Base names and contents as a YAML mapping. */
function asMapping(files: Files, encode: (text: string) => string): string {
  const entries = [...files].map(([name, content]): [string, GoValue] => [base(name), encode(stringValue(content))])
  return yamlText(new Map(entries)).replace(/\n$/, '')
}

const linesOf = (content: string): readonly string[] => (content === '' ? [] : content.replace(/\n$/, '').split('\n'))

function method(
  name: string,
  make: (files: Files) => GoFunction,
): readonly [string, (receiver: GoValue) => GoFunction] {
  return [name, (receiver) => make(receiver instanceof Map ? receiver : new Map())]
}

const METHODS: MethodTable = new Map([
  method('Get', (files) => fn('Get', ['string'], ([name]) => contentOf(files, name))),
  method('GetBytes', (files) => fn('GetBytes', ['string'], ([name]) => files.get(name) ?? bytesValue(''))),
  method('Glob', (files) =>
    fn('Glob', ['string'], ([pattern]) => {
      const glob = globPattern(pattern)
      return new NamedMap(
        TYPE,
        '[]uint8',
        [...files].filter(([name]) => glob.test(name)),
      )
    }),
  ),
  method('AsConfig', (files) => fn('AsConfig', [], () => asMapping(files, (text) => text))),
  method('AsSecrets', (files) =>
    fn('AsSecrets', [], () => asMapping(files, (text) => toBytes(text).toString('base64'))),
  ),
  method('Lines', (files) => fn('Lines', ['string'], ([name]) => stringList(linesOf(contentOf(files, name))))),
])

registerMethods(TYPE, METHODS)
