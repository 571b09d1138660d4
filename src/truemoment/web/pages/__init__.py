"""What the web pages of TrueMoment share: the application, security, sign-in, media, jobs and the start of the server.

A page is a :class:`~truemoment.web.pages.app.Site` (title, cookie, addresses, who may enter) and a list of routes.
Handlers are ordinary functions of a :class:`~truemoment.web.pages.app.Visit`; they run in threads, and return a
response or a value that becomes JSON. It needs ``pip install 'truemoment[pages]'``.
"""
