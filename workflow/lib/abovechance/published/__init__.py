"""A release of published predictions: its conventions, pools, audit, tables and figures."""
