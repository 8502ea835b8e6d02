"""Pagination of lists."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """`?page=2&page_size=100`; a page holds 50 items, or up to 200 on request."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
