/** `.Chart`: the metadata of a chart that has only a name and a version. */
import { GoList, GoStruct, NamedMap } from '../values/values.ts'
import type { StructField } from '../values/values.ts'

const text = (name: string, value = ''): StructField => ({
  name,
  type: 'string',
  value,
  json: name === 'APIVersion' ? 'apiVersion' : name.charAt(0).toLowerCase() + name.slice(1),
  omitEmpty: true,
})

const list = (name: string, type: string): StructField => ({ ...text(name), type, value: new GoList(type, null) })

export function chartValue(name: string, version: string): GoStruct {
  const metadata = new GoStruct('chart.Metadata', [
    text('Name', name),
    text('Home'),
    list('Sources', '[]string'),
    text('Version', version),
    text('Description'),
    list('Keywords', '[]string'),
    list('Maintainers', '[]*chart.Maintainer'),
    text('Icon'),
    text('APIVersion', 'v2'),
    text('Condition'),
    text('Tags'),
    text('AppVersion'),
    { ...text('Deprecated'), type: 'bool', value: false },
    { ...text('Annotations'), type: 'map[string]string', value: new NamedMap('map[string]string', 'string', null) },
    text('KubeVersion'),
    list('Dependencies', '[]*chart.Dependency'),
    text('Type'),
  ])
  return new GoStruct('struct { chart.Metadata; IsRoot bool }', [
    { name: 'Metadata', type: 'chart.Metadata', value: metadata, isEmbedded: true },
    { name: 'IsRoot', type: 'bool', value: true },
  ])
}
