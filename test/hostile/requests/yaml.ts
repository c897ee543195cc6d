import { type HostileRequest, MAPS, YAML_TYPE, APPLY, many, post, patch, filled } from './request.ts'

/** Bodies in YAML. */
export function yamlRequests(): HostileRequest[] {
  return [
    patch(
      'YAML aliases that multiply',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      `a: &a [x,x,x,x,x,x,x,x,x]\n${many(12, (i) => `${'bcdefghijklm'[i]}: &${'bcdefghijklm'[i]} [${many(9, () => `*${'abcdefghijkl'[i]}`).join(',')}]\n`).join('')}`,
    ),
    patch(
      'YAML aliases as keys',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      filled(`x: &k ${'k'.repeat(1_000)}\ny:\n`, '  ? *k\n  : 1\n', ''),
    ),
    patch('YAML duplicate keys', `${MAPS}/new?fieldManager=a`, APPLY, filled('data:\n', '  a: 1\n', '')),
    patch('YAML with long flow mappings', `${MAPS}/new?fieldManager=a`, APPLY, filled('data: {', 'a: b, ', '}\n')),
    patch('YAML with deep flow lists', `${MAPS}/new?fieldManager=a`, APPLY, '['.repeat(1_000_000)),
    patch(
      'YAML with deep blocks',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      many(1_700, (i) => `${' '.repeat(i)}a:\n`).join(''),
    ),
    patch('YAML with many lists', `${MAPS}/new?fieldManager=a`, APPLY, filled('', '- ', 'a\n')),
    patch(
      'YAML with many anchors',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      many(100_000, (i) => `a${i}: &a${i} x\n`).join(''),
    ),
    patch(
      'YAML with many merges',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      `a: &a {${many(5_000, (i) => `k${i}: 1`).join(', ')}}\n${many(2_000, (i) => `b${i}: {<<: *a}\n`).join('')}`,
    ),
    post(
      'YAML with block scalars',
      MAPS,
      filled('kind: ConfigMap\napiVersion: v1\nmetadata: {name: y}\ndata:\n  a: |\n', '    x\n', ''),
      YAML_TYPE,
    ),
    post('YAML with long quoted text', MAPS, filled('a: "', String.raw`\x41\u0042 `, '"\n'), YAML_TYPE),
    post('YAML with comments', MAPS, filled('', '# a\n', 'a: 1\n'), YAML_TYPE),
    post('YAML with directives', MAPS, filled('', '%YAML 1.1\n', '--- a\n'), YAML_TYPE),
  ]
}
