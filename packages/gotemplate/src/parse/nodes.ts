/** The syntax tree of a template. */
import { quote } from '../format/quote.ts'
import type { NumberConstant } from './numbers.ts'

/** The text that positions refer to. */
export interface SourceText {
  readonly name: string
  readonly text: string
}

interface Placed {
  readonly source: SourceText
  /** The offset in the text, in UTF-16 units. */
  readonly at: number
}

export type TextNode = Placed & { readonly type: 'text'; readonly text: string }
export type ListNode = Placed & { readonly type: 'list'; readonly nodes: readonly TreeNode[] }
export type ActionNode = Placed & { readonly type: 'action'; readonly pipe: PipeNode }
export type BranchNode = Placed & {
  readonly type: 'if' | 'range' | 'with'
  readonly pipe: PipeNode
  readonly list: ListNode
  readonly elseList: ListNode | undefined
}
export type JumpNode = Placed & { readonly type: 'break' | 'continue' }
export type TemplateNode = Placed & {
  readonly type: 'template'
  readonly name: string
  readonly pipe: PipeNode | undefined
}
export type PipeNode = Placed & {
  readonly type: 'pipe'
  readonly isAssign: boolean
  readonly variables: readonly VariableNode[]
  readonly commands: readonly CommandNode[]
}
export type CommandNode = Placed & { readonly type: 'command'; readonly args: readonly OperandNode[] }
export type VariableNode = Placed & { readonly type: 'variable'; readonly path: readonly string[] }
export type FieldNode = Placed & { readonly type: 'field'; readonly path: readonly string[] }
export type ChainNode = Placed & {
  readonly type: 'chain'
  readonly node: OperandNode
  readonly path: readonly string[]
}
export type IdentifierNode = Placed & { readonly type: 'identifier'; readonly name: string }
export type DotNode = Placed & { readonly type: 'dot' }
export type NilNode = Placed & { readonly type: 'nil' }
export type BoolNode = Placed & { readonly type: 'bool'; readonly value: boolean }
export type NumberNode = Placed & { readonly type: 'number'; readonly value: NumberConstant }
export type StringNode = Placed & { readonly type: 'string'; readonly literal: string; readonly value: string }

export type OperandNode =
  | VariableNode
  | FieldNode
  | ChainNode
  | IdentifierNode
  | DotNode
  | NilNode
  | BoolNode
  | NumberNode
  | StringNode
  | PipeNode

export type TreeNode = TextNode | ActionNode | BranchNode | JumpNode | TemplateNode
export type AnyNode = TreeNode | ListNode | OperandNode | CommandNode

/** The node as Go's errors show it. */
export function shownNode(node: AnyNode): string {
  switch (node.type) {
    case 'text':
      return node.text
    case 'list':
      return node.nodes.map(shownNode).join('')
    case 'action':
      return `{{${shownNode(node.pipe)}}}`
    case 'if':
    case 'range':
    case 'with': {
      const otherwise = node.elseList ? `{{else}}${shownNode(node.elseList)}` : ''
      return `{{${node.type} ${shownNode(node.pipe)}}}${shownNode(node.list)}${otherwise}{{end}}`
    }
    case 'break':
    case 'continue':
      return `{{${node.type}}}`
    case 'template':
      return `{{template ${quote(node.name)}${node.pipe ? ` ${shownNode(node.pipe)}` : ''}}}`
    case 'pipe': {
      const names = node.variables.map(shownNode).join(', ')
      const assignment = names === '' ? '' : `${names} ${node.isAssign ? '=' : ':='} `
      return assignment + node.commands.map(shownNode).join(' | ')
    }
    case 'command':
      return node.args.map(inParentheses).join(' ')
    case 'variable':
      return node.path.join('.')
    case 'field':
      return node.path.map((name) => `.${name}`).join('')
    case 'chain':
      return inParentheses(node.node) + node.path.map((name) => `.${name}`).join('')
    case 'identifier':
      return node.name
    case 'dot':
      return '.'
    case 'nil':
      return 'nil'
    case 'bool':
      return String(node.value)
    case 'number':
      return node.value.text
    default:
      return node.literal
  }
}

const inParentheses = (node: OperandNode): string => (node.type === 'pipe' ? `(${shownNode(node)})` : shownNode(node))

/** Whether a template with these nodes counts as not defined. */
export function isEmptyTree(list: ListNode): boolean {
  return list.nodes.every((node) => node.type === 'text' && /^[\s\u0085]*$/.test(node.text))
}
