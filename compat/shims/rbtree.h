/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trees: 5.12, commit 2d24dd5798d0: rb_add(), rb_add_cached() and rb_find(). They return nothing
 * but rb_find() here.
 */
#ifndef _ONRAMP_COMPAT_RBTREE_H
#define _ONRAMP_COMPAT_RBTREE_H

#ifndef COMPAT_HAS_RB_ADD

/* _compat_rb_link() - put a node behind its equals; true if it is the first one */
#define _compat_rb_link(new, root, less) ({				\
	struct rb_node **_link = &(root)->rb_node, *_parent = NULL;	\
	struct rb_node *_new = (new);					\
	bool _first = true;						\
									\
	while (*_link) {						\
		_parent = *_link;					\
		if (less(_new, _parent)) {				\
			_link = &_parent->rb_left;			\
		} else {						\
			_link = &_parent->rb_right;			\
			_first = false;					\
		}							\
	}								\
	rb_link_node(_new, _parent, _link);				\
	_first;								\
})

#define rb_add(node, tree, less) do {					\
	struct rb_node *_node = (node);					\
	struct rb_root *_root = (tree);					\
									\
	_compat_rb_link(_node, _root, less);				\
	rb_insert_color(_node, _root);					\
} while (0)

#define rb_add_cached(node, tree, less) do {				\
	struct rb_root_cached *_cached = (tree);			\
	struct rb_node *_node = (node);					\
									\
	rb_insert_color_cached(_node, _cached,				\
			       _compat_rb_link(_node, &_cached->rb_root, less)); \
} while (0)

#define rb_find(key, tree, cmp) ({					\
	struct rb_node *_found = (tree)->rb_node;			\
	const void *_key = (key);					\
	int _order;							\
									\
	while (_found) {						\
		_order = cmp(_key, _found);				\
		if (!_order)						\
			break;						\
		_found = _order < 0 ? _found->rb_left : _found->rb_right; \
	}								\
	_found;								\
})

#endif

#endif /* _ONRAMP_COMPAT_RBTREE_H */
