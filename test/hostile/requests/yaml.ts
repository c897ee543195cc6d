import {
  type HostileRequest,
  MAPS,
  YAML_TYPE,
  APPLY,
  MAX_BYTES,
  many,
  post,
  patch,
  filled,
  lazy,
  sized,
} from './request.ts'

const NEW = `${MAPS}/new?fieldManager=a`

const apply = (name: string, body: () => string): HostileRequest => lazy(patch(name, NEW, APPLY, ''), body)
const create = (name: string, body: () => string): HostileRequest => lazy(post(name, MAPS, '', YAML_TYPE), body)

/** Bodies in YAML. */
export function yamlRequests(): HostileRequest[] {
  return [
    apply(
      'YAML aliases that multiply',
      () =>
        `a: &a [x,x,x,x,x,x,x,x,x]\n${many(12, (i) => `${'bcdefghijklm'[i]}: &${'bcdefghijklm'[i]} [${many(9, () => `*${'abcdefghijkl'[i]}`).join(',')}]\n`).join('')}`,
    ),
    apply('YAML aliases as keys', () => filled(`x: &k ${'k'.repeat(1_000)}\ny:\n`, '  ? *k\n  : 1\n', '')),
    apply('YAML with many aliases', () => filled('x: &k a\ny: [', '*k ,', ']\n')),
    apply('YAML duplicate keys', () => filled('data:\n', '  a: 1\n', '')),
    apply('YAML with long flow mappings', () => filled('data: {', 'a: b, ', '}\n')),
    apply('YAML with a dense flow list', () => filled('data: [', 'a,', ']\n')),
    apply('YAML with a flow list of numbers', () => filled('data: [', '1,', ']\n')),
    apply('YAML with a flow list of nulls', () => filled('data: [', '~,', ']\n')),
    apply('YAML with a flow list of lists', () => filled('data: [', '[],', ']\n')),
    apply('YAML with a flow list of mappings', () => filled('data: [', '{},', ']\n')),
    apply('YAML with a flow list of pairs', () => filled('data: [', 'a: ,', ']\n')),
    apply('YAML with a flow list of quoted texts', () => filled('data: [', '"",', ']\n')),
    apply('YAML with dense flow keys', () => filled('data: {', 'a,', '}\n')),
    apply('YAML with many flow keys', () =>
      sized(MAX_BYTES, (count) => `data: {${many(count, (i) => i.toString(36)).join(',')}}\n`),
    ),
    apply('YAML with a dense block list', () => filled('data:\n', '-\n', '')),
    apply('YAML with a block list of values', () => filled('data:\n', '- a\n', '')),
    apply('YAML with many explicit keys', () => filled('data:\n', '?\n', '')),
    apply('YAML with many block keys', () =>
      sized(MAX_BYTES, (count) => many(count, (i) => `${i.toString(36)}:\n`).join('')),
    ),
    apply('YAML with many tags', () => filled('data: [', '! a,', ']\n')),
    apply('YAML with deep flow lists', () => '['.repeat(MAX_BYTES)),
    apply('YAML with deep blocks', () => many(1_700, (i) => `${' '.repeat(i)}a:\n`).join('')),
    apply('YAML with many lists', () => filled('', '- ', 'a\n')),
    apply('YAML with many anchors', () =>
      sized(MAX_BYTES, (count) => many(count, (i) => `${i.toString(36)}: &${i.toString(36)}\n`).join('')),
    ),
    apply(
      'YAML with many merges',
      () => `a: &a {${many(5_000, (i) => `k${i}: 1`).join(', ')}}\n${many(2_000, (i) => `b${i}: {<<: *a}\n`).join('')}`,
    ),
    apply('YAML that is JSON', () => sized(MAX_BYTES, (count) => JSON.stringify({ a: many(count, () => ({ a: 1 })) }))),
    create('YAML with block scalars', () =>
      filled('kind: ConfigMap\napiVersion: v1\nmetadata: {name: y}\ndata:\n  a: |\n', '    x\n', ''),
    ),
    create('YAML with many block scalars', () =>
      filled('kind: ConfigMap\napiVersion: v1\nmetadata: {name: y}\ndata:\n', '- |\n', ''),
    ),
    create('YAML with long plain text', () => filled('a: ', 'a\n  ', '\n')),
    create('YAML with long quoted text', () => filled('a: "', String.raw`\x41\u0042 `, '"\n')),
    create('YAML with comments', () => filled('', '# a\n', 'a: 1\n')),
    create('YAML with directives', () => filled('', '%YAML 1.1\n', '--- a\n')),
    create('YAML with many documents', () => filled('', '---\n', '--- a\n')),
  ]
}
